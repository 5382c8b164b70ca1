// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// qlogs writes a file per connection and knows when all of them are complete.
type qlogs struct {
	folder string
	open   sync.WaitGroup
}

func newQlogs(folder string) *qlogs {
	if folder != "" {
		// If it cannot be made, the first file tells.
		_ = os.MkdirAll(folder, 0o755)
	}
	return &qlogs{folder: folder}
}

// create makes the file of a connection.
func (q *qlogs) create(id string, isClient bool) (io.WriteCloser, error) {
	side := "server"
	if isClient {
		side = "client"
	}
	file, err := os.Create(filepath.Join(q.folder, fmt.Sprintf("%s_%s.sqlog", id, side)))
	if err != nil {
		return nil, err
	}
	q.open.Add(1)
	return &qlogFile{bufio.NewWriter(file), file, q.open.Done}, nil
}

// wait returns when every file is complete, or at the latest after `limit`.
func (q *qlogs) wait(limit time.Duration) {
	within(limit, q.open.Wait)
}

type qlogFile struct {
	*bufio.Writer
	file *os.File
	done func()
}

func (q *qlogFile) Close() error {
	defer q.done()
	if err := q.Flush(); err != nil {
		return err
	}
	return q.file.Close()
}

// openKeylog is nil without a file. Lines of several connections follow each other.
func openKeylog(path string) (io.Writer, error) {
	if path == "" {
		return nil, nil
	}
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}

// within runs `work` and stops waiting for it after `limit`.
func within(limit time.Duration, work func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
	case <-time.After(limit):
	}
}
