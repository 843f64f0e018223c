package messages

import (
	"net/http"
	"testing"

	"github.com/polywire/polywire/internal/wiretest"
	"github.com/polywire/polywire/upstream"
)

func TestIdleStreamCost(t *testing.T) {
	wiretest.IdleStreams(t, func(up upstream.Upstream) http.Handler { return NewHandler(up, nil) },
		func() *http.Request { return post(streamBody) })
}
