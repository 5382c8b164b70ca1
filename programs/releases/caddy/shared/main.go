// SPDX-License-Identifier: Apache-2.0

// Caddy with its standard modules, as its own main package is.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
)

func main() { caddycmd.Main() }
