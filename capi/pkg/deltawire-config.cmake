# find_package(deltawire) defines the targets deltawire::deltawire_static, deltawire::deltawire_shared and deltawire::deltawire.
# The last is the shared library if BUILD_SHARED_LIBS is on during find_package, and otherwise the static library.
include("${CMAKE_CURRENT_LIST_DIR}/deltawire-targets.cmake")

if(NOT TARGET deltawire::deltawire)
  add_library(deltawire::deltawire INTERFACE IMPORTED)
  if(BUILD_SHARED_LIBS)
    set_property(TARGET deltawire::deltawire PROPERTY INTERFACE_LINK_LIBRARIES deltawire::deltawire_shared)
  else()
    set_property(TARGET deltawire::deltawire PROPERTY INTERFACE_LINK_LIBRARIES deltawire::deltawire_static)
  endif()
endif()
