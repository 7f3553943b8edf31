# REALPATH, because /lib may be a link to /usr/lib: the prefix is then /usr.
get_filename_component(_deltawire_prefix "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(_deltawire_prefix "${_deltawire_prefix}/../@UP@/.." ABSOLUTE)

if(NOT TARGET deltawire::deltawire_static)
  add_library(deltawire::deltawire_static STATIC IMPORTED)
  set_target_properties(deltawire::deltawire_static PROPERTIES
    IMPORTED_LOCATION "${_deltawire_prefix}/@LIBDIR@/libdeltawire.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_INCLUDE_DIRECTORIES "${_deltawire_prefix}/include")
endif()

if(NOT TARGET deltawire::deltawire_shared)
  add_library(deltawire::deltawire_shared SHARED IMPORTED)
  set_target_properties(deltawire::deltawire_shared PROPERTIES
    IMPORTED_LOCATION "${_deltawire_prefix}/@LIBDIR@/@SHARED@"
    IMPORTED_SONAME "@INSTALL_NAME@"
    INTERFACE_INCLUDE_DIRECTORIES "${_deltawire_prefix}/include")
endif()

unset(_deltawire_prefix)
