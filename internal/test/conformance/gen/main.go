// Gen writes the drivers of the Go SDK that are derived from that of version 2:
// those of version 1 and of the beta clients.
package main

import (
	"log"
	"os"

	"github.com/polywire/polywire/internal/test/conformance/gen/drivers"
)

func main() {
	log.SetFlags(0)
	from, err := os.ReadFile(drivers.From)
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range drivers.Of(string(from)) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
