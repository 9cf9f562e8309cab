# Finds ONNX Runtime: ONNXRUNTIME_ROOT (variable or environment), then .deps/onnxruntime.
find_path(OnnxRuntime_INCLUDE_DIR onnxruntime_cxx_api.h
  HINTS ${ONNXRUNTIME_ROOT} ENV ONNXRUNTIME_ROOT ${PROJECT_SOURCE_DIR}/.deps/onnxruntime
  PATH_SUFFIXES include include/onnxruntime)
find_library(OnnxRuntime_LIBRARY NAMES onnxruntime libonnxruntime.so.1
  HINTS ${ONNXRUNTIME_ROOT} ENV ONNXRUNTIME_ROOT ${PROJECT_SOURCE_DIR}/.deps/onnxruntime
  PATH_SUFFIXES lib)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OnnxRuntime
  REQUIRED_VARS OnnxRuntime_LIBRARY OnnxRuntime_INCLUDE_DIR)
if(OnnxRuntime_FOUND AND NOT TARGET OnnxRuntime::OnnxRuntime)
  add_library(OnnxRuntime::OnnxRuntime SHARED IMPORTED)
  set_target_properties(OnnxRuntime::OnnxRuntime PROPERTIES
    IMPORTED_LOCATION ${OnnxRuntime_LIBRARY}
    IMPORTED_SONAME libonnxruntime.so.1
    INTERFACE_INCLUDE_DIRECTORIES ${OnnxRuntime_INCLUDE_DIR})
  set_target_properties(OnnxRuntime::OnnxRuntime PROPERTIES
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${OnnxRuntime_INCLUDE_DIR})
endif()
