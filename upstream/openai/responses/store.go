package responses

import (
	"net/http"

	"github.com/polywire/polywire/internal/handler"
)

// A Store stores responses.
type Store interface{}

func (d *dialect) storedRoute(r *http.Request, id string) *handler.Route { return nil }
