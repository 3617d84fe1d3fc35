#!/usr/bin/env bash
# build_guest.sh CACHE_DIR: makes the image that the system tests boot and prints its folder, which
# holds `vmlinux` (uncompressed, so that QEMU enters it without unpacking) and `initramfs.cpio`.
#
# Debian's cloud kernel and static busybox are downloaded and unpacked, not installed: no root is
# needed as long as apt knows its packages. An image is kept under the versions it is made from.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# In the order in which they can be loaded.
modules=(virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci failover
  net_failover virtio_net)

die() {
  echo "build_guest.sh: $*" >&2
  exit 1
}

update_package_lists() {
  local as_root=()
  [[ $(id -u) == 0 ]] || as_root=(sudo -n)
  "${as_root[@]}" apt-get update -qq -o DPkg::Lock::Timeout=300 >&2 ||
    die "apt knows no usable package lists; run: sudo apt-get update"
}

# Sets kernel, kernel_version and busybox_version from apt's lists, with one call: it is slow.
look_up_packages() {
  local known
  known=$(apt-cache show --no-all-versions linux-image-cloud-amd64 busybox-static 2>/dev/null)
  # "Depends: linux-image-6.1.0-57-cloud-amd64 (= 6.1.192-3)"
  read -r kernel kernel_version < <(sed -nE \
    's/^Depends: (linux-image-[^ ]*-cloud-amd64) \(= ([^)]*)\).*/\1 \2/p' <<<"$known") || return 1
  busybox_version=$(awk '/^Package: / { name = $2 }
    /^Version: / && name == "busybox-static" { print $2; exit }' <<<"$known")
  [[ -n $busybox_version ]]
}

download() { # into the current folder
  # As root, apt would fetch as a user who may not write here.
  apt-get download -qq -o APT::Sandbox::User=root "$kernel:amd64=$kernel_version" \
    "busybox-static:amd64=$busybox_version" >&2
}

field() { # FILE OFFSET BYTES: an unsigned little-endian integer of 1 or 4 bytes
  od -A n -t "u$3" -j "$2" -N "$3" --endian=little "$1" | tr -d ' '
}

# Takes the kernel proper out of a bzImage. Its setup header says where the packed kernel lies
# (setup_sects, payload_offset, payload_length in the kernel's x86 boot protocol, 2.08 and later).
unpack_kernel() { # BZIMAGE VMLINUX
  local image=$1 out=$2 start length unpacker
  [[ $(dd if="$image" bs=1 skip=514 count=4 status=none) == HdrS ]] ||
    die "$image is not a bzImage"
  start=$((($(field "$image" 497 1) + 1) * 512 + $(field "$image" 584 4)))
  length=$(field "$image" 588 4)
  case $(od -A n -t x1 -j "$start" -N 4 "$image" | tr -d ' ') in
    1f8b*) unpacker=(gzip -dc) ;;
    fd377a58) unpacker=(xz -dc) ;;
    28b52ffd) unpacker=(zstd -dc) ;;
    02214c18) unpacker=(lz4 -dc) ;;
    *) die "the kernel in $image is packed in a way unknown to this script" ;;
  esac
  command -v "${unpacker[0]}" >/dev/null ||
    die "${unpacker[0]} is missing; run: sudo apt-get install ${unpacker[0]/#xz/xz-utils}"
  # Its last four bytes are the unpacked size: gzip's own trailer, appended for all others.
  local packed=$length
  [[ ${unpacker[0]} == gzip ]] || packed=$((length - 4))
  dd if="$image" iflag=skip_bytes,count_bytes skip="$start" count="$packed" bs=1M status=none |
    "${unpacker[@]}" >"$out"
  [[ $(stat -c %s "$out") == $(field "$image" $((start + length - 4)) 4) ]] ||
    die "the kernel in $image did not unpack to the size that it states"
}

make_initramfs() { # UNPACKED_PACKAGES INITRAMFS
  local from=$1 root=$1/initramfs module found
  mkdir -p "$root"/{bin,dev,etc,modules,proc,run,srv,sys}
  cp "$(find "$from" -path '*/bin/busybox' -type f)" "$root/bin/busybox"
  install -m 755 "$here/guest/init" "$root/init"
  install -m 755 "$here/guest/lease" "$root/bin/lease"
  for module in "${modules[@]}"; do
    found=$(find "$from/lib/modules" -name "$module.ko*")
    case $found in
      *.ko) cp "$found" "$root/modules/" ;;
      *.ko.xz) "$root/bin/busybox" xzcat "$found" >"$root/modules/$module.ko" ;;
      *) die "module $module: not one file in $kernel, but '$found'" ;;
    esac
    echo "$module.ko" >>"$root/modules/order"
  done
  (cd "$root" && find . | LC_ALL=C sort | bin/busybox cpio -o -H newc) >"$2" 2>/dev/null
}

[[ $# == 1 ]] || die "usage: build_guest.sh CACHE_DIR"
command -v apt-get >/dev/null || die "this needs apt (Debian)"
look_up_packages || { update_package_lists && look_up_packages; } ||
  die "apt knows no linux-image-cloud-amd64 and busybox-static; this needs Debian's package lists"

mkdir -p "$1"
cache=$(cd "$1" && pwd)
image_name() {
  local recipe
  recipe=$(cat "$here"/build_guest.sh "$here"/guest/* | sha256sum | cut -c 1-12)
  echo "guest-$kernel_version-busybox-${busybox_version//[:\/]/_}-$recipe"
}
if [[ ! -d $cache/$(image_name) ]]; then
  work=$(mktemp -d "$cache/building.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  cd "$work"
  # Lists that are too old name versions that are gone.
  download || { update_package_lists && look_up_packages && download; } ||
    die "cannot download $kernel and busybox-static"
  for package in ./*.deb; do
    dpkg-deb --extract "$package" unpacked
  done
  mkdir image
  unpack_kernel unpacked/boot/vmlinuz-* image/vmlinux
  make_initramfs "$work/unpacked" "$work/image/initramfs.cpio"
  # A rename is atomic. Where another one was quicker, its image is as good.
  mv -T image "$cache/$(image_name)" 2>/dev/null || [[ -d $cache/$(image_name) ]]
fi
echo "$cache/$(image_name)"
