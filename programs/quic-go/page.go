// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"path"
	"strings"
)

// page is what a site needs beside its files: types by the endings of their names, header fields of every answer, and
// the other names under which the same files are served. A nil page has none of it.
type page struct {
	ContentTypes  map[string]string `json:"content_types"`
	Headers       map[string]string `json:"headers"`
	HeadersOverH3 map[string]string `json:"headers_over_h3"`
	Hosts         []host            `json:"hosts"`
}

// host is a name of the site with a certificate of its own. Those with the server's own address share its sockets: TLS
// tells them apart by the name that the client asks for.
type host struct {
	Listen      string   `json:"listen"`
	Protocols   []string `json:"protocols"`
	Certificate string   `json:"certificate"`
	Key         string   `json:"key"`
}

func (p *page) typeOf(name string) (string, bool) {
	if p == nil {
		return "", false
	}
	known, found := p.ContentTypes[strings.TrimPrefix(path.Ext(name), ".")]
	return known, found
}

func (p *page) mark(header http.Header, request *http.Request) {
	if p == nil {
		return
	}
	for name, value := range p.Headers {
		header.Set(name, value)
	}
	if request.ProtoMajor == 3 {
		for name, value := range p.HeadersOverH3 {
			header.Set(name, value)
		}
	}
}

// hosts are the server's own and those of the page, one for each address.
func (job *serverJob) hosts() []host {
	own := host{job.Listen, job.Protocols, job.Certificate, job.Key}
	hosts := []host{own}
	if job.Page != nil {
		for _, each := range job.Page.Hosts {
			if each.Listen != own.Listen {
				hosts = append(hosts, each)
			}
		}
	}
	return hosts
}

// certificates are those of an address, the server's own first.
func (job *serverJob) certificates(of host) [][2]string {
	pairs := [][2]string{{of.Certificate, of.Key}}
	if job.Page != nil && of.Listen == job.Listen {
		for _, each := range job.Page.Hosts {
			if each.Listen == of.Listen && each.Certificate != of.Certificate {
				pairs = append(pairs, [2]string{each.Certificate, each.Key})
			}
		}
	}
	return pairs
}
