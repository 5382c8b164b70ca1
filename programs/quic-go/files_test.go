// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func serve(t *testing.T, method, name string) *httptest.ResponseRecorder {
	t.Helper()
	outer := t.TempDir()
	www := filepath.Join(outer, "www")
	for file, text := range map[string]string{"secret": "outside", "www/1KB": "inside", "www/sub/page.html": "<p>"} {
		path := filepath.Join(outer, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret", filepath.Join(www, "link")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(www)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	answer := httptest.NewRecorder()
	files{root: root, contentType: "text/html"}.ServeHTTP(answer, &http.Request{Method: method, URL: &url.URL{Path: name}})
	return answer
}

// A file below the root arrives whole, with its length, and is not cached.
func TestServesFiles(t *testing.T) {
	for name, want := range map[string][2]string{
		"/1KB":           {"inside", "text/html"},
		"/sub/page.html": {"<p>", "text/html"},
	} {
		answer := serve(t, http.MethodGet, name)
		header := answer.Header()
		if answer.Code != http.StatusOK || answer.Body.String() != want[0] || header.Get("Content-Type") != want[1] {
			t.Errorf("%s: %d %q %v", name, answer.Code, answer.Body, header)
		}
		if header.Get("Content-Length") == "" || header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", name, header)
		}
	}
}

// HEAD tells the length and sends nothing.
func TestHeadHasNoBody(t *testing.T) {
	answer := serve(t, http.MethodHead, "/1KB")
	if answer.Code != http.StatusOK || answer.Body.Len() != 0 || answer.Header().Get("Content-Length") != "6" {
		t.Errorf("%d %q %v", answer.Code, answer.Body, answer.Header())
	}
}

// No name and no symbolic link leads out of the root; folders and what is not there are not found.
func TestNothingElseIsServed(t *testing.T) {
	for _, name := range []string{"/../secret", "/sub/../../secret", "//../secret", "/link", "/sub", "/", "", "/none", "/1KB/x"} {
		if answer := serve(t, http.MethodGet, name); answer.Code != http.StatusNotFound || answer.Body.Len() != 0 {
			t.Errorf("%q: %d %q", name, answer.Code, answer.Body)
		}
	}
}

// Only reading is allowed.
func TestOtherMethodsAreRefused(t *testing.T) {
	if answer := serve(t, http.MethodPost, "/1KB"); answer.Code != http.StatusMethodNotAllowed {
		t.Errorf("%d", answer.Code)
	}
}

// What is uploaded is kept whole under its name, and nowhere but in the folder for it.
func TestKeepsUploads(t *testing.T) {
	outer := t.TempDir()
	folder := filepath.Join(outer, "received")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	store, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for name, want := range map[string]int{"/1KB": http.StatusCreated, "/../outside": http.StatusForbidden} {
		answer := httptest.NewRecorder()
		body := strings.NewReader("sent")
		files{store: store}.ServeHTTP(answer, &http.Request{
			Method: http.MethodPut, URL: &url.URL{Path: name}, Body: io.NopCloser(body),
		})
		if answer.Code != want {
			t.Errorf("%s: %d", name, answer.Code)
		}
	}
	if text, err := os.ReadFile(filepath.Join(folder, "1KB")); err != nil || string(text) != "sent" {
		t.Errorf("%q %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(outer, "outside")); err == nil {
		t.Error("written outside the folder")
	}
}
