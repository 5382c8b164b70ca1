// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"
)

const (
	ticketLimit = 2 * time.Second
	closeLimit  = 150 * time.Millisecond
	// A body larger than this grows its buffer as it arrives, whatever its length is said to be.
	maxFirstBuffer = 64 << 20
)

// visit is one connection with one request.
type visit interface {
	// get returns when the response's header has arrived.
	get(ctx context.Context, request *http.Request) (*http.Response, error)
	// progress is told how much of the body has arrived.
	progress(total int64)
	// note adds what the connection knows of itself.
	note(r *request)
	close()
}

func runClient(file string) error {
	job, err := readClientJob(file)
	if err != nil {
		return err
	}
	if err := job.applyToProcess(); err != nil {
		return err
	}
	get, err := http.NewRequest(http.MethodGet, job.URL, nil)
	if err != nil {
		return badJob{err.Error()}
	}
	current, lost := job.openSession()
	config, err := job.clientTLS(current)
	if err != nil {
		return err
	}
	logs := newQlogs(job.QlogDir)

	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return errors.New("stdin was closed before the word to begin")
	}
	r := &request{URL: job.URL, Protocol: job.Protocol, StartNs: monotonicNs()}
	failure := lost
	if lost == nil {
		failure = visitOnce(job, config, current, logs, get, r)
	}
	r.end(failure)
	if err := r.write(job.Output); err != nil {
		return err
	}
	logs.wait(closeLimit)
	return failure
}

func visitOnce(
	job *clientJob, config *tls.Config, current *session, logs *qlogs, get *http.Request, r *request,
) error {
	var connection visit
	if job.Protocol == "h2" {
		connection = newH2Visit(job, config)
	} else {
		connection = newH3Visit(job, config, current, logs)
	}
	body, failure := fetch(connection, get, r)
	if failure != nil {
		r.LastByteNs = monotonicNs()
	}
	connection.note(r)
	if failure == nil && job.Priming {
		failure = awaitTicket(job, current)
	}
	within(closeLimit, connection.close)
	r.CloseNs = monotonicNs()
	r.noteBody(body)
	return failure
}

// fetch keeps the body in memory; what is known before a failure stays in `r`.
func fetch(connection visit, get *http.Request, r *request) ([]byte, error) {
	response, err := connection.get(context.Background(), get)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	r.Status = response.StatusCode
	r.HTTPVersion = fmt.Sprintf("HTTP/%d", response.ProtoMajor)
	if response.TLS != nil {
		r.noteTLS(response.TLS)
	}
	body := make([]byte, 0, min(max(response.ContentLength, 0)+1, maxFirstBuffer))
	for {
		body = slices.Grow(body, 1)
		count, err := response.Body.Read(body[len(body):cap(body)])
		if count > 0 && r.FirstByteNs == nil {
			r.FirstByteNs = new(monotonicNs())
		}
		body = body[:len(body)+count]
		if errors.Is(err, io.EOF) {
			r.LastByteNs = monotonicNs()
			return body, nil
		}
		if err != nil {
			return body, err
		}
		connection.progress(int64(len(body)))
	}
}

// openSession loads what an earlier visit has left, unless this one is to be the first.
func (job *clientJob) openSession() (*session, error) {
	if job.Session == "fresh" || job.Priming {
		return newSession(), nil
	}
	return loadSession(job.SessionFile, job.Protocol)
}

func awaitTicket(job *clientJob, current *session) error {
	select {
	case received := <-current.received:
		return saveSession(job.SessionFile, job.Protocol, received)
	case <-time.After(ticketLimit):
		return fmt.Errorf("the server sent no session ticket within %s", ticketLimit)
	}
}

func (job *clientJob) clientTLS(current *session) (*tls.Config, error) {
	text, err := os.ReadFile(job.CA)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", job.CA)
	}
	keylog, err := openKeylog(job.Keylog)
	if err != nil {
		return nil, err
	}
	config := job.tlsConfig()
	config.RootCAs = pool
	config.ServerName = job.Host
	config.InsecureSkipVerify = !job.Verify
	config.KeyLogWriter = keylog
	if current != nil && (job.Priming || job.Session != "fresh") {
		config.ClientSessionCache = current
		config.Time = current.now
	}
	return config, nil
}
