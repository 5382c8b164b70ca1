// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	client = `"url": "https://server.test/1MB", "address": "10.77.0.2", "port": 443, "host": "server.test",
		"ca": "ca.crt", "output": "client.json", "session_file": "session"`
	server = `"listen": "10.77.0.2:443", "root": "www", "certificate": "c", "key": "k", "early_data": false`
)

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "job.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// What is null is the library's own, known or not.
func TestNullIsNotAskedFor(t *testing.T) {
	job, err := readClientJob(write(t, `{`+client+`, "protocol": "h3", "scheduler": null, "gso": null, "verify": false}`))
	if err != nil {
		t.Fatal(err)
	}
	if job.GSO != nil || job.Session != "fresh" || job.Verify || job.Host != "server.test" {
		t.Errorf("read %+v", job)
	}
}

// A server's knobs arrive in both libraries' settings.
func TestKnobsReachTheLibraries(t *testing.T) {
	job, err := readServerJob(write(t, `{`+server+`, "protocols": ["h2", "h3"], "stream_window_bytes": 70000,
		"connection_window_bytes": 80000, "max_payload_bytes": 1300, "tls_version": "1.3", "groups": ["secp256r1"]}`))
	if err != nil {
		t.Fatal(err)
	}
	quic, http2, tls := job.quicConfig(), job.http2Config("server"), job.tlsConfig()
	if quic.MaxStreamReceiveWindow != 70000 || quic.InitialConnectionReceiveWindow != 80000 ||
		quic.InitialPacketSize != 1300 || !quic.DisablePathMTUDiscovery {
		t.Errorf("QUIC got %+v", quic)
	}
	if http2.MaxReceiveBufferPerStream != 70000 || http2.MaxReceiveBufferPerConnection != 80000 {
		t.Errorf("HTTP/2 got %+v", http2)
	}
	if tls.MinVersion != tls.MaxVersion || len(tls.CurvePreferences) != 1 || tls.CurvePreferences[0] != groups["secp256r1"] {
		t.Errorf("TLS got %d to %d, groups %v", tls.MinVersion, tls.MaxVersion, tls.CurvePreferences)
	}
}

// Go's HTTP/2 client adds its own window to the initial one of the connection.
func TestAClientsConnectionWindowIsTheWholeOne(t *testing.T) {
	job, err := readClientJob(write(t, `{`+client+`, "protocol": "h2", "connection_window_bytes": 200000}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := job.http2Config("client").MaxReceiveBufferPerConnection; got != 200000-65535 {
		t.Errorf("asked Go for %d", got)
	}
}

// Every job that cannot be done is refused with a reason that names what is wrong.
func TestImpossibleJobsAreRefused(t *testing.T) {
	for _, each := range []struct{ extra, reason string }{
		{`"protocol": "h1"`, `protocol "h1"`},
		{`"protocol": "h3", "scheduler": "fifo"`, "quic-go cannot set scheduler"},
		{`"protocol": "h3", "congestion_control": "bbr"`, "reno only"},
		{`"protocol": "h2", "congestion_control": "reno"`, "kernel"},
		{`"protocol": "h3", "tls_version": "1.2"`, "tls_version"},
		{`"protocol": "h2", "tls_version": "1.1"`, `"1.1"`},
		{`"protocol": "h2", "pacing": true`, "pacing"},
		{`"protocol": "h2", "gso": false`, "gso"},
		{`"protocol": "h2", "ecn": false`, "ecn"},
		{`"protocol": "h2", "path_mtu_discovery": false`, "path_mtu_discovery"},
		{`"protocol": "h3", "path_mtu_discovery": true, "max_payload_bytes": 1300`, "path_mtu_discovery"},
		{`"protocol": "h3", "max_payload_bytes": 1100`, "max_payload"},
		{`"protocol": "h2", "connection_window_bytes": 70000`, "connection_window"},
		{`"protocol": "h3", "stream_window_bytes": 0`, "stream_window"},
		{`"protocol": "h3", "groups": ["p-256"]`, `group "p-256"`},
		{`"protocol": "h2", "session": "early_data"`, "early data"},
		{`"protocol": "h2", "session": "resumed", "address_token": true`, "address token"},
		{`"protocol": "h3", "address_token": true`, "address token"},
		{`"protocol": "h2", "migration": "active"`, "migrate"},
		{`"protocol": "h3", "migration": "sideways"`, `migration "sideways"`},
		{`"protocol": "h3", "port": "443"`, "port"},
	} {
		_, err := readClientJob(write(t, `{`+client+`, `+each.extra+`}`))
		if _, bad := errors.AsType[badJob](err); !bad || !strings.Contains(err.Error(), each.reason) {
			t.Errorf("%s: says %v, not %q", each.extra, err, each.reason)
		}
	}
}

// A file that is no JSON or not there is a bad job as well.
func TestUnreadableJobsAreRefused(t *testing.T) {
	for _, file := range []string{write(t, `{"protocol": `), filepath.Join(t.TempDir(), "none")} {
		_, err := readServerJob(file)
		if _, bad := errors.AsType[badJob](err); !bad || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// The golden files of all readers and writers of this format (tests/unit/lab/endpoints/test_job.py).
func TestGoldenJobsAreRead(t *testing.T) {
	client, err := readClientJob(filepath.Join("..", "..", "tests", "golden", "job-client.json"))
	if err != nil {
		t.Fatal(err)
	}
	if client.URL != "https://server.test/1MB" || len(client.OtherURLs) != 2 || client.Concurrency != 2 ||
		client.Session != "fresh" || !client.Verify {
		t.Errorf("read %+v", client)
	}
	if *client.CongestionControl != "reno" || *client.ConnectionWindow != 1_500_000 ||
		*client.StreamWindow != 1_000_000 || len(client.Groups) != 2 || *client.MaxPayload != 1350 {
		t.Errorf("read the knobs %+v", client.knobs)
	}
	server, err := readServerJob(filepath.Join("..", "..", "tests", "golden", "job-server.json"))
	if err != nil {
		t.Fatal(err)
	}
	if server.Listen != "10.77.0.2:443" || *server.MaxStreams != 100 || *server.Scheduler != "round_robin" {
		t.Errorf("read %+v", server)
	}
}
