// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// files serves the regular files below a folder and nothing else; os.Root lets no name and no link lead out of it. What
// is uploaded goes to another folder, if there is one.
type files struct {
	root        *os.Root
	store       *os.Root
	contentType string
	page        *page
}

func (f files) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	header := response.Header()
	header.Set("Cache-Control", "no-store")
	if request.Method == http.MethodPut && f.store != nil {
		header.Set("Content-Length", "0")
		response.WriteHeader(f.keep(request))
		return
	}
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		response.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	file, size := f.open(request.URL.Path)
	if file == nil {
		header.Set("Content-Length", "0")
		response.WriteHeader(http.StatusNotFound)
		return
	}
	defer file.Close()
	header.Set("Content-Type", f.typeOf(request.URL.Path))
	f.page.mark(header, request)
	header.Set("Content-Length", strconv.FormatInt(size, 10))
	response.WriteHeader(http.StatusOK)
	if request.Method == http.MethodGet {
		copyInTurn(response, file, size, request)
	}
}

func (f files) typeOf(name string) string {
	if known, found := f.page.typeOf(name); found {
		return known
	}
	return f.contentType
}

// keep writes a body to its file as it arrives, and returns the status of the answer.
func (f files) keep(request *http.Request) int {
	file, err := f.store.Create(strings.TrimPrefix(request.URL.Path, "/"))
	if err != nil {
		return http.StatusForbidden
	}
	_, err = io.Copy(file, request.Body)
	if closing := file.Close(); err != nil || closing != nil {
		return http.StatusInternalServerError
	}
	return http.StatusCreated
}

func (f files) open(name string) (*os.File, int64) {
	file, err := f.root.Open(strings.TrimPrefix(name, "/"))
	if err != nil {
		return nil, 0
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = file.Close()
		return nil, 0
	}
	return file, info.Size()
}
