// SPDX-License-Identifier: Apache-2.0

// A small HTTP client and server around quic-go (HTTP/3) and Go's own net/http (HTTP/2), started by the laboratory:
//
//	quiclab-quic-go client JOB.json
//	quiclab-quic-go server JOB.json
//	quiclab-quic-go version
//
// In a job null means the library's own. Exit code 1 is a request or a server that failed, 2 a job that cannot be
// done; the reason stands in one line on stdout.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

const usage = "usage: quiclab-quic-go client JOB.json | server JOB.json | version"

// badJob is a job that asks for what cannot be done.
type badJob struct{ reason string }

func (bad badJob) Error() string { return bad.reason }

func main() {
	err := run(os.Args[1:])
	if err == nil {
		return
	}
	fmt.Println(oneLine(err))
	if _, bad := errors.AsType[badJob](err); bad {
		os.Exit(2)
	}
	os.Exit(1)
}

func run(arguments []string) error {
	switch {
	case len(arguments) == 1 && arguments[0] == "version":
		fmt.Println(libraryVersions())
		return nil
	case len(arguments) == 2 && arguments[0] == "client":
		return runClient(arguments[1])
	case len(arguments) == 2 && arguments[0] == "server":
		return runServer(arguments[1])
	}
	return badJob{usage}
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
