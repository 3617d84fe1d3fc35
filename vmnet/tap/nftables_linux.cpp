#include "vmnet/tap/nftables.hpp"

#include <cerrno>
#include <memory>

#include <linux/netlink.h>
#include <nftables/libnftables.h>
#include <sys/socket.h>

#include "transport/owned_fd.hpp"

namespace vmswitch {

namespace {

// Where the kernel has no nftables the library would end the process.
bool is_in_kernel() {
  return static_cast<bool>(
      owned_fd{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER)});
}

} // namespace

result<std::string> run_nft(const std::string& commands) {
  if (!is_in_kernel())
    return fail("this kernel has no nftables (module nf_tables)", EPROTONOSUPPORT);
  const std::unique_ptr<nft_ctx, decltype(&::nft_ctx_free)> context{::nft_ctx_new(NFT_CTX_DEFAULT),
                                                                    &::nft_ctx_free};
  if (!context)
    return fail("libnftables cannot start: memory is short", ENOMEM);
  ::nft_ctx_output_set_flags(context.get(), NFT_CTX_OUTPUT_JSON);
  ::nft_ctx_buffer_output(context.get());
  ::nft_ctx_buffer_error(context.get());
  errno = 0;
  if (::nft_run_cmd_from_buffer(context.get(), commands.c_str()) == 0)
    return std::string{::nft_ctx_get_output_buffer(context.get())};
  const int code = errno;
  std::string said{::nft_ctx_get_error_buffer(context.get())};
  const bool refused = said.find("Operation not permitted") != std::string::npos;
  if (said.empty())
    said = "no reason given";
  said = said.substr(0, said.find('\n'));
  return fail("nftables refused its rules: " + said, refused ? EPERM : code);
}

} // namespace vmswitch
