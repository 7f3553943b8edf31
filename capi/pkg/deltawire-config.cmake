# find_package(deltawire): the targets deltawire::deltawire_static, deltawire::deltawire_shared, and deltawire::deltawire,
# which is the shared one where BUILD_SHARED_LIBS is on when the package is looked for, else the static one.
include("${CMAKE_CURRENT_LIST_DIR}/deltawire-targets.cmake")

if(NOT TARGET deltawire::deltawire)
  add_library(deltawire::deltawire INTERFACE IMPORTED)
  if(BUILD_SHARED_LIBS)
    set_property(TARGET deltawire::deltawire PROPERTY INTERFACE_LINK_LIBRARIES deltawire::deltawire_shared)
  else()
    set_property(TARGET deltawire::deltawire PROPERTY INTERFACE_LINK_LIBRARIES deltawire::deltawire_static)
  endif()
endif()
