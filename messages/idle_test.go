package messages

import (
	"net/http"
	"testing"

	"github.com/polywire/polywire/internal/formattest"
	"github.com/polywire/polywire/upstream"
)

func TestIdleStreamCost(t *testing.T) {
	formattest.IdleStreams(t, func(up upstream.Upstream) http.Handler { return NewHandler(up, nil) },
		func() *http.Request { return post(streamBody) })
}
