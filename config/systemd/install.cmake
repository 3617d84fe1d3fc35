# Units name programs by absolute path, which is known only now: cmake --install --prefix.
get_filename_component(prefix "${CMAKE_INSTALL_PREFIX}" ABSOLUTE)
foreach(name IN ITEMS bin doc)
  set(${name} ${${name}dir})
  if(NOT IS_ABSOLUTE ${${name}})
    set(${name} ${prefix}/${${name}})
  endif()
endforeach()
set(examples ${doc}/examples)
foreach(manager IN ITEMS system user)
  set(folder ${source})
  if(manager STREQUAL "user")
    set(folder ${source}/user)
  endif()
  configure_file(${folder}/vmswitchd.service.in ${work}/${manager}/vmswitchd.service @ONLY)
  # Not GNUInstallDirs' lib64 or lib/x86_64-linux-gnu: systemd looks here.
  file(INSTALL ${work}/${manager}/vmswitchd.service ${folder}/vmswitchd.socket
       DESTINATION ${prefix}/lib/systemd/${manager})
endforeach()
file(INSTALL ${source}/vmswitch.sysusers DESTINATION ${prefix}/lib/sysusers.d
     RENAME vmswitch.conf)
