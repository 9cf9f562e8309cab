# A room is one folder of src/ built as one static library; see docs/architecture.md.

# sampan_room(NAME SOURCES a.cc b.cc ROOMS base tensor LIBRARIES fmt::fmt)
function(sampan_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;ROOMS;LIBRARIES" ${ARGN})
  list(TRANSFORM ROOM_ROOMS PREPEND sampan_)
  add_library(sampan_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(sampan_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src
                                                   ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(sampan_${name} PUBLIC sampan_build_flags ${ROOM_ROOMS}
                                       PRIVATE ${ROOM_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY SAMPAN_ROOMS sampan_${name})
endfunction()

# sampan_test(base SOURCES a_test.cc ROOMS base LIBRARIES ... LABELS tsan FIXTURES package): one test
# program a folder. Its tests run behind those that set the fixtures up.
# Tests labelled tsan also run in the preset of that name. ThreadSanitizer cannot see inside ONNX Runtime:
# what they call of it must not raise false alarms.
function(sampan_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;ROOMS;LIBRARIES;LABELS;FIXTURES" ${ARGN})
  list(TRANSFORM TEST_ROOMS PREPEND sampan_)
  add_executable(sampan_${name}_test ${TEST_SOURCES})
  target_include_directories(sampan_${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(sampan_${name}_test PRIVATE ${TEST_ROOMS} ${TEST_LIBRARIES}
    sampan_test_folders GTest::gmock GTest::gtest_main)
  if(TEST_LABELS)
    set(labels LABELS "${TEST_LABELS}")
  endif()
  if(TEST_FIXTURES)
    set(fixtures FIXTURES_REQUIRED "${TEST_FIXTURES}")
  endif()
  gtest_discover_tests(sampan_${name}_test TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
    PROPERTIES ${labels} ${fixtures} TIMEOUT 300)
  if(tsan IN_LIST TEST_LABELS)
    add_dependencies(sampan_tsan_tests sampan_${name}_test)
  endif()
endfunction()
