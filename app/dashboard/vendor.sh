#!/usr/bin/env bash
# Renews app/dashboard/vendor: the charting library uPlot as its authors built it, from npm.
# The page works offline and the build needs no npm: what this script makes is in the tree.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

version=1.6.32
integrity=KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm pack --silent --pack-destination "$folder" "uplot@$version" >/dev/null
package=$folder/uplot-$version.tgz
[[ $(openssl dgst -sha512 -binary "$package" | base64 -w 0) == "$integrity" ]] || {
  echo "vendor.sh: uplot $version is not what it was when it was chosen" >&2
  exit 1
}
tar -xzf "$package" -C "$folder"
mkdir -p vendor
install -m 644 "$folder/package/dist/uPlot.iife.min.js" vendor/uplot.js
install -m 644 "$folder/package/dist/uPlot.min.css" vendor/uplot.css
{ cat "$folder/package/LICENSE" && echo; } >vendor/uplot-license.txt # it has no last line end
echo "$version" >vendor/VERSION
