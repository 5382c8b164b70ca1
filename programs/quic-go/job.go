// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// clientJob says what a client is to fetch, from where, how, and where it writes its account.
type clientJob struct {
	URL string `json:"url"`
	// What is fetched beside it on the same connection, at most Concurrency at once.
	OtherURLs   []string `json:"other_urls"`
	Concurrency int      `json:"concurrency"`
	// The folder with what is uploaded, each under the last part of its URL's path; none: everything is downloaded.
	UploadDir   string `json:"upload_dir"`
	Address     string `json:"address"`
	Port        int    `json:"port"`
	Host        string `json:"host"`
	Protocol    string `json:"protocol"`
	CA          string `json:"ca"`
	Verify      bool   `json:"verify"`
	QlogDir     string `json:"qlog_dir"`
	Keylog      string `json:"keylog"`
	Output      string `json:"output"`
	Session     string `json:"session"`
	SessionFile string `json:"session_file"`
	// The address token of the first visit comes along.
	AddressToken bool   `json:"address_token"`
	Priming      bool   `json:"priming"`
	Migration    string `json:"migration"`
	MigrateAt    int64  `json:"migrate_at_bytes"`
	knobs
}

// serverJob says what a server serves and where.
type serverJob struct {
	Listen string `json:"listen"`
	Root   string `json:"root"`
	// Where uploads are kept; none: there are none.
	StoreDir    string   `json:"store_dir"`
	Certificate string   `json:"certificate"`
	Key         string   `json:"key"`
	QlogDir     string   `json:"qlog_dir"`
	Keylog      string   `json:"keylog"`
	Protocols   []string `json:"protocols"`
	EarlyData   bool     `json:"early_data"`
	MaxStreams  *int64   `json:"max_streams"`
	ContentType string   `json:"content_type"`
	// How the responses of a connection share it; none of the two: as the libraries do.
	Scheduler  *string `json:"scheduler"`
	Priorities *bool   `json:"priorities"`
	// What is served is a site.
	Page *page `json:"page"`
	knobs
}

func readClientJob(file string) (*clientJob, error) {
	job := &clientJob{Session: "fresh", Verify: true}
	if err := readJob(file, job); err != nil {
		return nil, err
	}
	if err := oneOf("protocol", job.Protocol, "h2", "h3"); err != nil {
		return nil, err
	}
	if err := oneOf("session", job.Session, "fresh", "resumed", "early_data"); err != nil {
		return nil, err
	}
	if err := oneOf("migration", job.Migration, "", "active", "rebinding"); err != nil {
		return nil, err
	}
	switch {
	case job.Protocol == "h2" && job.Session == "early_data":
		return nil, badJob{"Go's TLS has no early data over TCP"}
	case job.Protocol == "h2" && job.Migration != "":
		return nil, badJob{"a TCP connection cannot migrate"}
	case job.Migration == "active" && !canSwitchPath:
		return nil, badJob{"this release of quic-go cannot move to another path"}
	case len(job.OtherURLs) > 0 && (job.Concurrency < 1 || job.Priming):
		return nil, badJob{"several objects need a concurrency, and a first visit fetches one"}
	case len(job.OtherURLs) > 0 && job.Migration != "":
		return nil, badJob{"several objects go without migration"}
	case job.UploadDir != "" && (job.Session == "early_data" || job.Migration != "" || job.Priming):
		return nil, badJob{"uploads go without early data and without migration, and are no first visit"}
	case job.AddressToken && (job.Protocol != "h3" || !job.Priming && job.Session == "fresh"):
		return nil, badJob{"an address token is QUIC's, of a visitor that comes again"}
	case job.SessionFile == "" && (job.Priming || job.Session != "fresh"):
		return nil, badJob{"a session needs a session_file"}
	}
	return job, job.check("client", []string{job.Protocol})
}

func readServerJob(file string) (*serverJob, error) {
	job := &serverJob{ContentType: "application/octet-stream"}
	if err := readJob(file, job); err != nil {
		return nil, err
	}
	if len(job.Protocols) == 0 {
		return nil, badJob{"protocols names none of h2, h3"}
	}
	for _, protocol := range job.Protocols {
		if err := oneOf("protocols", protocol, "h2", "h3"); err != nil {
			return nil, err
		}
	}
	if job.Scheduler != nil {
		if err := oneOf("scheduler", *job.Scheduler, "fifo", "round_robin"); err != nil {
			return nil, err
		}
	}
	if job.schedule() != nil && !canSchedule {
		return nil, badJob{"this release of quic-go has no scheduler and no priorities: it does not tell connections apart"}
	}
	if job.MaxStreams != nil && (*job.MaxStreams < 1 || *job.MaxStreams > maxStreamLimit) {
		return nil, badJob{fmt.Sprintf("max_streams is a number from 1 to %d", int64(maxStreamLimit))}
	}
	return job, job.check("server", job.Protocols)
}

// readJob fills `job` from a file. What is null is not asked for; what is asked for and not known is an error.
func readJob(file string, job any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return badJob{err.Error()}
	}
	var asked map[string]json.RawMessage
	if err := json.Unmarshal(text, &asked); err != nil {
		return badJob{fmt.Sprintf("%s: %v", file, err)}
	}
	for name, value := range asked {
		if bytes.Equal(value, []byte("null")) {
			delete(asked, name)
		}
	}
	text, err = json.Marshal(asked)
	if err != nil {
		return badJob{fmt.Sprintf("%s: %v", file, err)}
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(job)
	if err == nil {
		return nil
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return badJob{"quic-go cannot set " + strings.Trim(name, `"`)}
	}
	return badJob{fmt.Sprintf("%s: %v", file, err)}
}

func oneOf(name, value string, known ...string) error {
	for _, word := range known {
		if value == word {
			return nil
		}
	}
	return badJob{fmt.Sprintf("%s %q is none of %s", name, value, strings.Join(known, " "))}
}
