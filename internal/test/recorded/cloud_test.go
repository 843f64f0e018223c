package recorded

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
)

// TestCloudDocuments checks that a recorded request of Messages keeps its bytes on clouds, but
// for the members that these have elsewhere, if it loses nothing there.
func TestCloudDocuments(t *testing.T) {
	eachRecord(t, func(r *record) bool { return r.format == formatMessages && translated(r) }, func(t *testing.T, r *record) {
		if n := asSent(r); n == nil || len(filePaths(n)) > 0 {
			return // links are loaded, which TestEncodings checks
		}
		for _, platform := range []anthropic.Platform{anthropic.PlatformVertex, anthropic.PlatformBedrock} {
			check(t, r, "bytes on "+string(platform), func() error { return checkCloudDocument(r, platform) })
		}
	})
}

func checkCloudDocument(r *record, platform anthropic.Platform) error {
	sent := new(capture)
	o := anthropic.Options{Platform: platform, BaseURL: "http://localhost", HTTPClient: &http.Client{Transport: sent}}
	if platform == anthropic.PlatformVertex {
		o.Project, o.Location = "p", "global"
	}
	up, err := anthropic.New(&o)
	if err != nil {
		return err
	}
	header := http.Header{}
	if b := r.RequestHeaders["anthropic-beta"]; b != "" {
		header.Set("anthropic-beta", b)
	}
	got, err := send(r.format, up, request{"/v1/messages", r.Request, header})
	if err != nil {
		return err
	}
	kept := slices.DeleteFunc(lossplaces.Of(got.report.Losses), func(l content.Loss) bool { return strings.HasPrefix(l.Path, "headers.anthropic-beta") })
	switch {
	case sent.body == nil:
		return fmt.Errorf("nothing was sent: %w", got.report.Err)
	case len(kept) > 0 && gjson.GetBytes(sent.body, "anthropic_version").Str == "":
		return fmt.Errorf("with losses, sent %s", clip(string(sent.body), 500))
	case gjson.Get(r.Request, "cache_control").Exists() && gjson.GetBytes(sent.body, "cache_control").Exists():
		return errors.New("the cache mark of the request was sent, which clouds do not have")
	case len(kept) > 0, gjson.Get(r.Request, "cache_control").Exists():
		return nil
	}
	if a, b := cloudMembers(r.Request), cloudMembers(string(sent.body)); !slices.Equal(a, b) {
		return fmt.Errorf("without losses, sent\n%s\nof\n%s", clip(strings.Join(b, "\n"), 1000), clip(strings.Join(a, "\n"), 1000))
	}
	return nil
}

// cloudMembers returns the members of a document as they are in it, without those that a
// cloud has elsewhere.
func cloudMembers(document string) (list []string) {
	gjson.Parse(document).ForEach(func(name, v gjson.Result) bool {
		switch name.Str {
		case "model", "stream", "anthropic_version", "anthropic_beta":
		default:
			list = append(list, name.Raw+":"+v.Raw)
		}
		return true
	})
	return list
}

// TestCloudContents is TestCloudDocuments for generateContent on Google Cloud. What the
// service itself has accepted is sent unchanged.
func TestCloudContents(t *testing.T) {
	eachRecord(t, func(r *record) bool { return r.format == formatGenerate && translated(r) }, func(t *testing.T, r *record) {
		n := asSent(r)
		if n == nil {
			return
		}
		check(t, r, "bytes on Google Cloud", func() error { return checkCloudContents(r) })
	})
}

func checkCloudContents(r *record) error {
	sent := new(capture)
	up, err := gemini.New(&gemini.Options{Project: "p", Location: "global", BaseURL: "http://localhost", HTTPClient: &http.Client{Transport: sent}})
	if err != nil {
		return err
	}
	got, err := send(r.format, up, request{"/v1beta1/publishers/google/models/gemini-3.8-flash:generateContent", r.Request, nil})
	if err != nil {
		return err
	}
	noRole := false
	gjson.Get(r.Request, "contents").ForEach(func(_, turn gjson.Result) bool {
		noRole = noRole || turn.Get("role").Str == ""
		return !noRole
	})
	onCloud := strings.Contains(r.URL, "/publishers/")
	switch {
	case string(sent.body) == r.Request:
		return nil
	case onCloud:
		return fmt.Errorf("accepted by the service, but sent as %s with losses %v", clip(string(sent.body), 500), got.report.Losses)
	case noRole, len(got.report.Losses) > 0, strings.Contains(r.Request, "generativelanguage.googleapis.com/"), strings.Contains(r.Request, `"model"`):
		return nil
	}
	return fmt.Errorf("without losses, sent %s of %s: %w", clip(string(sent.body), 500), clip(r.Request, 500), got.report.Err)
}
