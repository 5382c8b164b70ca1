// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func readAccount(t *testing.T, file string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var account map[string]any
	if err := json.Unmarshal(text, &account); err != nil {
		t.Fatal(err)
	}
	return account
}

// What the laboratory reads of an account stands in it, as in the golden file of all writers of this format.
func TestTheAccountIsTheGoldenOne(t *testing.T) {
	golden := readAccount(t, filepath.Join("..", "..", "tests", "golden", "client.json"))
	told := &request{
		URL: "https://server.test/hello", Protocol: "h3", StartNs: 1000, FirstByteNs: new(int64(2000)), LastByteNs: 3000,
		CloseNs: 4000, Status: 200, HTTPVersion: "HTTP/3", ALPN: "h3",
	}
	told.noteBody([]byte("hello world"))
	file := filepath.Join(t.TempDir(), "client.json")
	if err := writeReport(file, []*request{told}); err != nil {
		t.Fatal(err)
	}
	own := readAccount(t, file)
	request := func(account map[string]any) map[string]any {
		return account["requests"].([]any)[0].(map[string]any)
	}
	for name, value := range request(golden) {
		if !reflect.DeepEqual(request(own)[name], value) {
			t.Errorf("%s is %v, not %v", name, request(own)[name], value)
		}
	}
	if own["version"] != golden["version"] || own["close_ns"] != golden["close_ns"] {
		t.Errorf("wrote %v", own)
	}
	if _, ok := own["versions"].(map[string]any); !ok {
		t.Errorf("wrote the versions %v", own["versions"])
	}
}
