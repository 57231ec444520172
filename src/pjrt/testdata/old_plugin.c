// A plugin that is too old: it has nothing but a version.
#include <pjrt_c_api.h>

const PJRT_Api* GetPjrtApi(void) {
  static PJRT_Api api;
  api.struct_size = 3 * sizeof(void*) + sizeof(PJRT_Api_Version);
  api.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  api.pjrt_api_version.major_version = 0;
  api.pjrt_api_version.minor_version = 30;
  return &api;
}
