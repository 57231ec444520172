# `make install` copies below PREFIX: the program, what it reads (share/hum), the plugin and weights of the wheels
# (lib/hum), the documents, and the completions and manual page that the program prints.
# Not copied: the baselines of `hum evaluate model`, and the logs of trainings.
install(TARGETS hum RUNTIME DESTINATION bin)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/weights DESTINATION share/hum
        PATTERN baselines EXCLUDE PATTERN logs EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/configs ${CMAKE_SOURCE_DIR}/hardware ${CMAKE_SOURCE_DIR}/examples
        DESTINATION share/hum)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/ DESTINATION share/doc/hum)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/doc/hum)

# The files of wheels keep their places in the wheel, with its licence.
function(hum_install_wheel wheel file)
  get_filename_component(folder ${file} DIRECTORY)
  install(PROGRAMS ${HUM_THIRD_PARTY}/${wheel}/${file} DESTINATION lib/hum/${wheel}/${folder})
  file(GLOB licences ${HUM_THIRD_PARTY}/${wheel}/*.dist-info)
  install(DIRECTORY ${licences} DESTINATION lib/hum/${wheel})
endfunction()
if(EXISTS ${HUM_THIRD_PARTY}/fastatomstruct_xla_cpu)
  hum_install_wheel(fastatomstruct_xla_cpu fastatomstruct_xla_cpu/libpjrt_cpu.so)
else()
  hum_install_wheel(xla_cpu_pjrt xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so)
endif()
hum_install_wheel(basic_pitch basic_pitch/saved_models/icassp_2022/nmp.onnx)

install(CODE [[
  set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
  function(write_output_of_hum file)
    get_filename_component(folder "${prefix}/${file}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    message(STATUS "Installing: ${prefix}/${file}")
    execute_process(COMMAND "${prefix}/bin/hum" ${ARGN} OUTPUT_FILE "${prefix}/${file}" COMMAND_ERROR_IS_FATAL ANY)
  endfunction()
  write_output_of_hum(share/bash-completion/completions/hum completion bash)
  write_output_of_hum(share/zsh/site-functions/_hum completion zsh)
  write_output_of_hum(share/fish/vendor_completions.d/hum.fish completion fish)
  write_output_of_hum(share/man/man1/hum.1 man)
]])
