# cmake --install: headers, shared library, program, ONNX Runtime, and what find_package(sampan) and
# pkg-config read.
include(CMakePackageConfigHelpers)

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/sampan)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sampan
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS sampan EXPORT sampan LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS sampan_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

get_target_property(runtime OnnxRuntime::OnnxRuntime IMPORTED_LOCATION)
install(FILES ${runtime} DESTINATION ${CMAKE_INSTALL_LIBDIR} RENAME libonnxruntime.so.1)

install(EXPORT sampan NAMESPACE sampan:: FILE sampanTargets.cmake DESTINATION ${config_folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sampanConfig.cmake.in
  ${PROJECT_BINARY_DIR}/sampanConfig.cmake INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sampanConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sampanConfig.cmake ${PROJECT_BINARY_DIR}/sampanConfigVersion.cmake
  DESTINATION ${config_folder})

configure_file(${PROJECT_SOURCE_DIR}/cmake/sampan.pc.in ${PROJECT_BINARY_DIR}/sampan.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sampan.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
