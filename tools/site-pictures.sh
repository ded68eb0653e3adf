#!/usr/bin/env bash
# site-pictures.sh SITE TO: pictures of each page of the site, at 1280 and 390 pixels, light and dark.
set -euo pipefail
site=$(realpath "$1") to=$2
mkdir -p "$to"
# The pages of scenarios have one form: one of them is enough.
find "$site" -name '*.html' ! \( -path '*/scenarios/*' ! -name pod-moves.html \) | while read -r page; do
	name=$(realpath --relative-to "$site" "$page" | tr / - | sed 's/\.html$//')
	for width in 1280 390; do
		for dark in 0 1; do
			flags=(--headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="$width,1600")
			[ $dark = 0 ] || flags+=(--blink-settings=preferredColorScheme=0)
			chromium "${flags[@]}" --screenshot="$to/$name-$width-$dark.png" "file://$page" >/dev/null 2>&1
		done
	done
done
