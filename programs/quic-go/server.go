// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
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

	"golang.org/x/sys/unix"
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
	stopped, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	logs := newQlogs(job.QlogDir)
	handler := files{root: root, contentType: job.ContentType, page: job.Page}
	if job.StoreDir != "" {
		if handler.store, err = os.OpenRoot(job.StoreDir); err != nil {
			return err
		}
	}
	listeners, err := job.listen(handler, logs)
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
func (job *serverJob) listen(handler http.Handler, logs *qlogs) ([]listener, error) {
	var listeners []listener
	for _, at := range job.hosts() {
		config, err := job.serverTLS(at)
		if err != nil {
			return nil, err
		}
		if slices.Contains(at.Protocols, "h3") {
			h3, err := job.listenH3(at.Listen, config, handler, logs)
			if err != nil {
				return nil, err
			}
			listeners = append(listeners, h3)
		}
		if slices.Contains(at.Protocols, "h2") || slices.Contains(at.Protocols, "h1") {
			tcp, err := job.listenTCP(at, config, handler)
			if err != nil {
				return nil, err
			}
			listeners = append(listeners, tcp)
		}
	}
	return listeners, nil
}

func (job *serverJob) listenH3(
	at string, config *tls.Config, handler http.Handler, logs *qlogs,
) (listener, error) {
	address, err := net.ResolveUDPAddr("udp", at)
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
	server := job.newServer(handler, config, quicConfig)
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

func (job *serverJob) listenTCP(at host, config *tls.Config, handler http.Handler) (listener, error) {
	bound, err := job.listenerTCP().Listen(context.Background(), "tcp", at.Listen)
	if err != nil {
		return listener{}, err
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP2(slices.Contains(at.Protocols, "h2"))
	protocols.SetHTTP1(slices.Contains(at.Protocols, "h1"))
	limits := job.http2Config("server")
	if job.MaxStreams != nil {
		limits.MaxConcurrentStreams = int(*job.MaxStreams)
	}
	server := &http.Server{
		Handler:   handler,
		TLSConfig: config.Clone(),
		Protocols: protocols,
		HTTP2:     limits,
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return withGate(ctx, job.schedule())
		},
		ErrorLog: log.New(io.Discard, "", 0), // a peer's broken handshake is seen in the capture
	}
	return listener{func() error { return server.ServeTLS(bound, "", "") }, server.Close}, nil
}

// schedule is nil where the libraries' own is left.
func (job *serverJob) schedule() *schedule {
	if job.Scheduler == nil && job.Priorities == nil {
		return nil
	}
	return &schedule{
		fifo: job.Scheduler != nil && *job.Scheduler == "fifo",
		obey: job.Priorities != nil && *job.Priorities,
	}
}

// listenerTCP keeps what the kernel has not sent yet small where the server says whose turn it is: what is queued there
// has had its turn.
func (job *serverJob) listenerTCP() *net.ListenConfig {
	config := &net.ListenConfig{}
	if job.schedule() == nil {
		return config
	}
	config.Control = func(_, _ string, socket syscall.RawConn) error {
		var failure error
		err := socket.Control(func(fd uintptr) {
			failure = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, 2*quantum)
		})
		return errors.Join(err, failure)
	}
	return config
}

func (job *serverJob) serverTLS(at host) (*tls.Config, error) {
	var pairs []tls.Certificate
	for _, files := range job.certificates(at) {
		pair, err := tls.LoadX509KeyPair(files[0], files[1])
		if err != nil {
			return nil, fmt.Errorf("certificate %s, key %s: %w", files[0], files[1], err)
		}
		pairs = append(pairs, pair)
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
	config.Certificates = pairs
	config.KeyLogWriter = keylog
	return config, nil
}
