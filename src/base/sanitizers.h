// How this program was built.
#pragma once

namespace hum {

// Whether this is a build with AddressSanitizer or ThreadSanitizer: programs then take several
// times the time, and terabytes of address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kHasSanitizer = true;
#else
inline constexpr bool kHasSanitizer = false;
#endif

}  // namespace hum
