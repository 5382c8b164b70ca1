// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"runtime/debug"
	"strings"
)

const quicModule = "github.com/quic-go/quic-go"

// versions names the libraries in this binary: HTTP/2 and TLS are those of Go itself.
func versions() map[string]string {
	found := map[string]string{"quic-go": "unknown", "go": strings.TrimPrefix(runtime.Version(), "go")}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == quicModule {
				found["quic-go"] = strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	return found
}

func libraryVersions() string {
	found := versions()
	return "quic-go " + found["quic-go"] + "\ngo " + found["go"]
}
