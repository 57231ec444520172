# Builds the files of site/ into hum_serve, as a table that page_files() returns. src/serve/CMakeLists.txt includes this
# after hum_library(serve), because a custom command must be in the folder of its target.
set(page_folder ${CMAKE_CURRENT_LIST_DIR})
file(GLOB page_files CONFIGURE_DEPENDS ${page_folder}/site/*)
set(page_table ${CMAKE_CURRENT_BINARY_DIR}/page_files.cpp)
add_custom_command(OUTPUT ${page_table}
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${page_folder}/site -DOUTPUT=${page_table} -P ${page_folder}/write_table.cmake
  DEPENDS ${page_files} ${page_folder}/write_table.cmake
  COMMENT "Embedding the page" VERBATIM)
target_sources(hum_serve PRIVATE ${page_table})
