// A plugin whose clients have one device, whatever they are asked for: it ignores all options.
#include <pjrt_c_api.h>
#include <stddef.h>

static char client, device, description;
static PJRT_Device* devices[] = {(PJRT_Device*)&device};

static PJRT_Error* initialize(PJRT_Plugin_Initialize_Args* args) {
  (void)args;
  return NULL;
}
static PJRT_Error* create(PJRT_Client_Create_Args* args) {
  args->client = (PJRT_Client*)&client;
  return NULL;
}
static PJRT_Error* destroy(PJRT_Client_Destroy_Args* args) {
  (void)args;
  return NULL;
}
static PJRT_Error* platform_name(PJRT_Client_PlatformName_Args* args) {
  args->platform_name = "cpu";
  args->platform_name_size = 3;
  return NULL;
}
static PJRT_Error* process_index(PJRT_Client_ProcessIndex_Args* args) {
  args->process_index = 0;
  return NULL;
}
static PJRT_Error* all_devices(PJRT_Client_Devices_Args* args) {
  args->devices = devices;
  args->num_devices = 1;
  return NULL;
}
static PJRT_Error* describe(PJRT_Device_GetDescription_Args* args) {
  args->device_description = (PJRT_DeviceDescription*)&description;
  return NULL;
}
static PJRT_Error* id(PJRT_DeviceDescription_Id_Args* args) {
  args->id = 0;
  return NULL;
}
static PJRT_Error* is_addressable(PJRT_Device_IsAddressable_Args* args) {
  args->is_addressable = 1;
  return NULL;
}

const PJRT_Api* GetPjrtApi(void) {
  static PJRT_Api api;
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  api.pjrt_api_version.major_version = PJRT_API_MAJOR;
  api.pjrt_api_version.minor_version = PJRT_API_MINOR;
  api.PJRT_Plugin_Initialize = initialize;
  api.PJRT_Client_Create = create;
  api.PJRT_Client_Destroy = destroy;
  api.PJRT_Client_PlatformName = platform_name;
  api.PJRT_Client_ProcessIndex = process_index;
  api.PJRT_Client_Devices = all_devices;
  api.PJRT_Device_GetDescription = describe;
  api.PJRT_DeviceDescription_Id = id;
  api.PJRT_Device_IsAddressable = is_addressable;
  return &api;
}
