// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/quic-go/quic-go/http3"
)

// Together below the 200 ms in which a server ends.
const (
	stopLimit  = 100 * time.Millisecond
	flushLimit = 80 * time.Millisecond
)

// listener is one protocol of the server.
type listener struct {
	serve func() error
	stop  func() error
}

func runServer(file string) error {
	job, err := readServerJob(file)
	if err != nil {
		return err
	}
	if err := job.applyToProcess(); err != nil {
		return err
	}
	root, err := os.OpenRoot(job.Root)
	if err != nil {
		return err
	}
	config, err := job.serverTLS()
	if err != nil {
		return err
	}
	stopped, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	logs := newQlogs(job.QlogDir)
	handler := files{root: root, contentType: job.ContentType}
	if job.StoreDir != "" {
		if handler.store, err = os.OpenRoot(job.StoreDir); err != nil {
			return err
		}
	}
	listeners, err := job.listen(config, handler, logs)
	if err != nil {
		return err
	}
	failed := make(chan error, len(listeners))
	for _, each := range listeners {
		go func() { failed <- each.serve() }()
	}
	select {
	case err = <-failed:
	case <-stopped.Done():
	}
	within(stopLimit, func() {
		var stopping sync.WaitGroup
		for _, each := range listeners {
			stopping.Go(func() { _ = each.stop() })
		}
		stopping.Wait()
	})
	logs.wait(flushLimit)
	return err
}

// listen binds every socket before the first is served, so that what cannot be bound is told at once.
func (job *serverJob) listen(config *tls.Config, handler http.Handler, logs *qlogs) ([]listener, error) {
	var listeners []listener
	if slices.Contains(job.Protocols, "h3") {
		h3, err := job.listenH3(config, handler, logs)
		if err != nil {
			return nil, err
		}
		listeners = append(listeners, h3)
	}
	if slices.Contains(job.Protocols, "h2") {
		h2, err := job.listenH2(config, handler)
		if err != nil {
			return nil, err
		}
		listeners = append(listeners, h2)
	}
	return listeners, nil
}

func (job *serverJob) listenH3(config *tls.Config, handler http.Handler, logs *qlogs) (listener, error) {
	address, err := net.ResolveUDPAddr("udp", job.Listen)
	if err != nil {
		return listener{}, badJob{err.Error()}
	}
	socket, err := net.ListenUDP("udp", address)
	if err != nil {
		return listener{}, err
	}
	config = config.Clone()
	if !job.EarlyData {
		config.UnwrapSession = refuseEarlyData(config)
	}
	quicConfig := job.quicConfig()
	quicConfig.Allow0RTT = true
	if job.MaxStreams != nil {
		quicConfig.MaxIncomingStreams = *job.MaxStreams
	}
	logs.configure(quicConfig)
	server := &http3.Server{Handler: handler, TLSConfig: config, QUICConfig: quicConfig}
	return listener{func() error { return server.Serve(socket) }, server.Close}, nil
}

// refuseEarlyData resumes the session and leaves its early data. Tickets announce early data all the same, so that a
// client offers them and is refused; a ticket without would never be tried.
func refuseEarlyData(config *tls.Config) func([]byte, tls.ConnectionState) (*tls.SessionState, error) {
	return func(identity []byte, state tls.ConnectionState) (*tls.SessionState, error) {
		session, err := config.DecryptTicket(identity, state)
		if session != nil {
			session.EarlyData = false
		}
		return session, err
	}
}

func (job *serverJob) listenH2(config *tls.Config, handler http.Handler) (listener, error) {
	bound, err := net.Listen("tcp", job.Listen)
	if err != nil {
		return listener{}, err
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	limits := job.http2Config("server")
	if job.MaxStreams != nil {
		limits.MaxConcurrentStreams = int(*job.MaxStreams)
	}
	server := &http.Server{
		Handler:   handler,
		TLSConfig: config.Clone(),
		Protocols: protocols,
		HTTP2:     limits,
		ErrorLog:  log.New(io.Discard, "", 0), // a peer's broken handshake is seen in the capture
	}
	return listener{func() error { return server.ServeTLS(bound, "", "") }, server.Close}, nil
}

func (job *serverJob) serverTLS() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(job.Certificate, job.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s, key %s: %w", job.Certificate, job.Key, err)
	}
	keylog, err := openKeylog(job.Keylog)
	if err != nil {
		return nil, err
	}
	var ticketKey [32]byte
	if _, err := rand.Read(ticketKey[:]); err != nil {
		return nil, err
	}
	config := job.tlsConfig()
	config.SetSessionTicketKeys([][32]byte{ticketKey}) // one for all listeners and all copies of this configuration
	config.Certificates = []tls.Certificate{pair}
	config.KeyLogWriter = keylog
	return config, nil
}
