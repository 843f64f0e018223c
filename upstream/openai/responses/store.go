package responses

import (
	"net/http"

	"github.com/polywire/polywire/internal/handler"
)

// A Store stores responses.
type Store interface{}

func (d *dialect) storedRoute(r *http.Request, id string) *handler.Route { return nil }
func (d *dialect) compact(_ string, r *http.Request, body string) (*handler.Operation, error) {
	return nil, nil
}
