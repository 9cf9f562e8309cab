# Finds a copy of ONNX Runtime that fits (tools/check_onnxruntime.sh): the one that ONNXRUNTIME_ROOT
# names, as a variable or in the environment, and no other; else the one that tools/setup.sh put into
# .deps/onnxruntime; else the system's. Defines the target OnnxRuntime::OnnxRuntime.
set(_root "${ONNXRUNTIME_ROOT}")
if(NOT _root)
  set(_root "$ENV{ONNXRUNTIME_ROOT}")
endif()
if(_root)
  set(_folders "${_root}")
else()
  set(_folders "${PROJECT_SOURCE_DIR}/.deps/onnxruntime" /usr/local /usr)
endif()

set(_reasons "")
set(OnnxRuntime_VERSION "")
foreach(_folder IN LISTS _folders)
  unset(_include CACHE)
  unset(_library CACHE)
  find_path(_include onnxruntime_cxx_api.h PATHS "${_folder}" NO_DEFAULT_PATH NO_CACHE
    PATH_SUFFIXES include include/onnxruntime)
  find_library(_library NAMES onnxruntime libonnxruntime.so.1 PATHS "${_folder}" NO_DEFAULT_PATH
    NO_CACHE PATH_SUFFIXES lib lib/${CMAKE_LIBRARY_ARCHITECTURE})
  if(_library AND _include)
    file(REAL_PATH "${_library}" _library)
    execute_process(
      COMMAND "${PROJECT_SOURCE_DIR}/tools/check_onnxruntime.sh" "${_library}" "${CMAKE_CXX_COMPILER}"
      RESULT_VARIABLE _refused OUTPUT_VARIABLE _answer ERROR_VARIABLE _trouble
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
    if(NOT _refused)
      set(OnnxRuntime_VERSION "${_answer}")
      set(OnnxRuntime_LIBRARY "${_library}")
      set(OnnxRuntime_INCLUDE_DIR "${_include}")
      break()
    endif()
    string(APPEND _reasons "\n  ${_answer}${_trouble}")
  elseif(_library OR _root)
    string(APPEND _reasons "\n  ${_folder}: has no lib/libonnxruntime.so, or not include/onnxruntime_cxx_api.h")
  endif()
endforeach()

if(NOT OnnxRuntime_VERSION AND OnnxRuntime_FIND_REQUIRED)
  if(_root)
    set(_next_step "Set ONNXRUNTIME_ROOT to another copy, or unset it and run tools/setup.sh.")
  else()
    set(_next_step "Run tools/setup.sh, or set ONNXRUNTIME_ROOT to a copy.")
  endif()
  message(FATAL_ERROR "No copy of ONNX Runtime can be used.${_reasons}\n${_next_step}")
endif()

if(OnnxRuntime_VERSION)
  set(OnnxRuntime_FOUND TRUE)
  if(NOT TARGET OnnxRuntime::OnnxRuntime)
    message(STATUS "ONNX Runtime ${OnnxRuntime_VERSION}: ${OnnxRuntime_LIBRARY}")
    add_library(OnnxRuntime::OnnxRuntime SHARED IMPORTED)
    set_target_properties(OnnxRuntime::OnnxRuntime PROPERTIES
      IMPORTED_LOCATION "${OnnxRuntime_LIBRARY}"
      IMPORTED_SONAME libonnxruntime.so.1
      INTERFACE_INCLUDE_DIRECTORIES "${OnnxRuntime_INCLUDE_DIR}"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${OnnxRuntime_INCLUDE_DIR}")
  endif()
endif()
