// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

const (
	ticketLimit = 2 * time.Second
	closeLimit  = 150 * time.Millisecond
	// A body larger than this grows its buffer as it arrives, whatever its length is said to be.
	maxFirstBuffer = 64 << 20
)

// visit is one connection with one request, or with several.
type visit interface {
	// get returns when the response's header has arrived.
	get(ctx context.Context, request *http.Request) (*http.Response, error)
	// connect returns a connection for any number of requests at once; it is called instead of `get`.
	connect(ctx context.Context) (http.RoundTripper, error)
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
	requests, err := job.requests()
	if err != nil {
		return err
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
	failure, told := lost, job.begin(monotonicNs())
	switch {
	case lost != nil:
	case len(requests) == 1:
		failure = visitOnce(job, config, current, logs, requests[0], told[0])
	default:
		failure = visitForAll(job, job.visit(config, current, logs), requests, told)
	}
	for _, r := range told {
		r.end(failure)
	}
	if err := writeReport(job.Output, told); err != nil {
		return err
	}
	logs.wait(closeLimit)
	return failure
}

func visitOnce(
	job *clientJob, config *tls.Config, current *session, logs *qlogs, asked *http.Request, r *request,
) error {
	connection := job.visit(config, current, logs)
	body, failure := fetch(connection, asked, r)
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

func (job *clientJob) visit(config *tls.Config, current *session, logs *qlogs) visit {
	if job.Protocol == "h2" {
		return newH2Visit(job, config)
	}
	return newH3Visit(job, config, current, logs)
}

func (job *clientJob) requests() ([]*http.Request, error) {
	var requests []*http.Request
	for _, url := range job.urls() {
		request, err := job.request(url)
		if err != nil {
			return nil, badJob{err.Error()}
		}
		requests = append(requests, request)
	}
	return requests, nil
}

// request has the body of an upload in memory.
func (job *clientJob) request(url string) (*http.Request, error) {
	if job.UploadDir == "" {
		return http.NewRequest(http.MethodGet, url, nil)
	}
	body, err := os.ReadFile(filepath.Join(job.UploadDir, path.Base(url)))
	if err != nil {
		return nil, err
	}
	return http.NewRequest(http.MethodPut, url, bytes.NewReader(body))
}

func (job *clientJob) urls() []string { return append([]string{job.URL}, job.OtherURLs...) }

// begin has an account for each request; those that need not wait for others begin now.
func (job *clientJob) begin(nowNs int64) []*request {
	var told []*request
	for place, url := range job.urls() {
		r := &request{URL: url, Protocol: job.Protocol}
		if place < max(job.Concurrency, 1) {
			r.StartNs = nowNs
		}
		told = append(told, r)
	}
	return told
}

// fetch keeps the body in memory; what is known before a failure stays in `r`.
func fetch(connection visit, asked *http.Request, r *request) ([]byte, error) {
	response, err := connection.get(context.Background(), asked)
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
		first := newSession()
		var err error
		if job.AddressToken {
			first.tokens, err = newTokens(nil)
		}
		return first, err
	}
	return loadSession(job.SessionFile, job.Protocol)
}

// awaitTicket keeps the ticket of a first visit, and its address token where one is to come along.
func awaitTicket(job *clientJob, current *session) error {
	limit := time.After(ticketLimit)
	var token *tokenFields
	if current.tokens != nil {
		select {
		case received := <-current.tokens.received:
			token = fieldsOf(received)
		case <-limit:
			return fmt.Errorf("the server sent no address token within %s", ticketLimit)
		}
	}
	select {
	case received := <-current.received:
		return saveSession(job.SessionFile, job.Protocol, received, token)
	case <-limit:
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
