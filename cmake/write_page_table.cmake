# Writes OUTPUT, a C++ source with every file of FOLDER, for hum_embed_page (embed_page.cmake):
# cmake -DFOLDER=site -DOUTPUT=page_files.cpp -DHEADER=... -DNAMESPACE=... -DPREFIX=/page/ -P write_page_table.cmake
# index.html is "/"; the others are PREFIX<name>.
set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_svg "image/svg+xml")
set(type_webmanifest "application/manifest+json")

file(GLOB names RELATIVE ${FOLDER} ${FOLDER}/*)
list(SORT names)
set(arrays "")
set(rows "")
set(number 0)
foreach(name ${names})
  get_filename_component(extension ${name} LAST_EXT)
  string(SUBSTRING "${extension}" 1 -1 extension)  # without its dot
  if(NOT DEFINED type_${extension})
    message(FATAL_ERROR "${name}: add the content type of .${extension} to write_page_table.cmake")
  endif()
  set(path "${PREFIX}${name}")
  if(name STREQUAL "index.html")
    set(path "/")
  endif()
  file(READ ${FOLDER}/${name} bytes HEX)
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
  # Lines of 128 bytes, because some tools reject longer ones.
  string(REPEAT "." 512 line)
  string(REGEX REPLACE "(${line})" "\\1\"\n    \"" bytes "${bytes}")
  file(SIZE ${FOLDER}/${name} size)
  file(SHA256 ${FOLDER}/${name} hash)
  string(SUBSTRING ${hash} 0 16 hash)
  string(APPEND arrays "// ${name}\nconstexpr char kFile${number}[] =\n    \"${bytes}\";\n")
  set(row "    {\"${path}\", \"${type_${extension}}\", {kFile${number}, ${size}}, \"\\\"${hash}\\\"\"},\n")
  if(path STREQUAL "/")
    string(PREPEND rows "${row}")
  else()
    string(APPEND rows "${row}")
  endif()
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Made by write_page_table.cmake from the files of site/ beside the header.
#include \"${HEADER}\"

namespace ${NAMESPACE} {
namespace {

${arrays}
constexpr PageFile kFiles[] = {
${rows}};

}  // namespace

std::span<const PageFile> page_files() { return kFiles; }

}  // namespace ${NAMESPACE}
")
