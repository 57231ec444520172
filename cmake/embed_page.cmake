# hum_embed_page(folder header prefix) builds the files of site/, beside `header`, into hum_<folder>, as the table that
# page_files() of the header returns. The path of each file begins with `prefix`. Call it after hum_library(folder), in
# the same CMakeLists.txt.
function(hum_embed_page folder header prefix)
  get_filename_component(site ${CMAKE_SOURCE_DIR}/src/${header} DIRECTORY)
  string(APPEND site /site)
  set(script ${CMAKE_SOURCE_DIR}/cmake/write_page_table.cmake)
  set(table ${CMAKE_CURRENT_BINARY_DIR}/page_files.cpp)
  file(GLOB files CONFIGURE_DEPENDS ${site}/*)
  add_custom_command(OUTPUT ${table}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${site} -DOUTPUT=${table} -DHEADER=${header} -DNAMESPACE=hum::${folder}
            -DPREFIX=${prefix} -P ${script}
    DEPENDS ${files} ${script}
    COMMENT "Embedding the page of ${folder}" VERBATIM)
  target_sources(hum_${folder} PRIVATE ${table})
endfunction()
