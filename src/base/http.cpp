#include "base/http.h"

#include <curl/curl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/text.h"

namespace hum {
namespace {

struct Transfer {
  const HttpRequest& request;
  CURL* handle;
  HttpAnswer answer;
  std::string_view to_send;
  std::exception_ptr thrown = nullptr;
};

size_t receive_body(char* bytes, size_t, size_t count, void* state) {
  auto& transfer = *static_cast<Transfer*>(state);
  long status = 0;
  curl_easy_getinfo(transfer.handle, CURLINFO_RESPONSE_CODE, &status);
  try {
    if (transfer.request.sink && status / 100 == 2) {
      transfer.request.sink({bytes, count});
    } else {
      transfer.answer.body.append(bytes, count);
    }
  } catch (...) {  // exceptions must not cross C frames
    transfer.thrown = std::current_exception();
    return 0;
  }
  return count;
}

size_t receive_header(char* bytes, size_t, size_t count, void* state) {
  auto& answer = static_cast<Transfer*>(state)->answer;
  const std::string_view line(bytes, count);
  const size_t colon = line.find(':');
  if (colon == line.npos) return count;
  answer.headers[lower_case(line.substr(0, colon))] = trimmed(line.substr(colon + 1), " \t\r\n");
  return count;
}

size_t send_body(char* bytes, size_t, size_t count, void* state) {
  auto& left = static_cast<Transfer*>(state)->to_send;
  const size_t taken = std::min(count, left.size());
  left.copy(bytes, taken);
  left.remove_prefix(taken);
  return taken;
}

int rewind_body(void* state, curl_off_t offset, int) {
  auto& transfer = *static_cast<Transfer*>(state);
  transfer.to_send = transfer.request.body.substr(static_cast<size_t>(offset));
  return CURL_SEEKFUNC_OK;
}

// A non-zero result aborts the transfer. curl calls this at least once a second.
int is_stopped(void* state, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<Transfer*>(state)->request.stop.stop_requested() ? 1 : 0;
}

bool may_pass(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SSL_CONNECT_ERROR:
      return true;
    default:
      return false;
  }
}

CertificateFault certificate_fault(CURL* curl) {
  long result = 0;
  curl_easy_getinfo(curl, CURLINFO_SSL_VERIFYRESULT, &result);
  switch (result) {
    case X509_V_OK:  // curl compares names after OpenSSL's check
    case X509_V_ERR_UNSPECIFIED:
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return CertificateFault::kOtherName;
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return CertificateFault::kExpired;
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return CertificateFault::kNotYetValid;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return CertificateFault::kUnknownIssuer;
    default:
      return CertificateFault::kOther;
  }
}

void set_method(Transfer& transfer) {
  CURL* curl = transfer.handle;
  const HttpRequest& request = transfer.request;
  if (request.method == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  } else if (request.method == "PUT") {
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, send_body);
    curl_easy_setopt(curl, CURLOPT_READDATA, &transfer);
    curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, rewind_body);
    curl_easy_setopt(curl, CURLOPT_SEEKDATA, &transfer);
  } else if (request.method == "POST") {
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.empty() ? "" : request.body.data());
  } else {
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
}

void set_options(Transfer& transfer, char* failure, const curl_slist* headers) {
  CURL* curl = transfer.handle;
  const HttpRequest& request = transfer.request;
  const auto milliseconds = [](auto time) { return static_cast<long>(time.count()); };
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);  // ".." is valid in a key
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, failure);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(request.connect_timeout));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, milliseconds(request.transfer_timeout));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1000L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.stall_timeout.count()));
  if (!request.ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, request.ca_file.c_str());
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 256L * 1024);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, receive_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_stopped);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
}

}  // namespace

HttpAnswer send_http(const HttpRequest& request) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  const std::unique_ptr<CURL, void (*)(CURL*)> curl(curl_easy_init(), curl_easy_cleanup);
  HUM_CHECK(curl != nullptr);
  std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(nullptr, curl_slist_free_all);
  std::vector<std::string> lines = request.headers;
  lines.emplace_back("Expect:");  // otherwise curl waits a second before it sends a body
  for (const std::string& line : lines) {
    curl_slist* longer = curl_slist_append(headers.get(), line.c_str());
    HUM_CHECK(longer != nullptr);
    static_cast<void>(headers.release());
    headers.reset(longer);
  }
  char failure[CURL_ERROR_SIZE] = "";
  Transfer transfer{.request = request, .handle = curl.get(), .to_send = request.body};
  set_options(transfer, failure, headers.get());
  set_method(transfer);
  const CURLcode code = curl_easy_perform(curl.get());
  if (transfer.thrown) std::rethrow_exception(transfer.thrown);
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  transfer.answer.status = static_cast<int>(status);
  if (code != CURLE_OK) {
    transfer.answer.failure = *failure != '\0' ? failure : curl_easy_strerror(code);
    transfer.answer.may_retry = may_pass(code);
    if (code == CURLE_PEER_FAILED_VERIFICATION) {
      transfer.answer.certificate = certificate_fault(curl.get());
    }
  }
  return std::move(transfer.answer);
}

std::chrono::milliseconds jittered(std::chrono::milliseconds longest) {
  const auto noise = std::chrono::steady_clock::now().time_since_epoch().count() % 1000;
  return longest / 2 + longest * noise / 2000;
}

void pause(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
}

}  // namespace hum
