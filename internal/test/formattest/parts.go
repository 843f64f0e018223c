package formattest

import "github.com/polywire/polywire/internal/partfield"

// PartKinds and SourceKinds have an empty value of each kind of part and of source.
var (
	PartKinds   = zeros(partfield.PartNames[:])
	SourceKinds = zeros(partfield.SourceNames[:])
)

func zeros[T any](kinds []partfield.Names[T]) (list []T) {
	for _, k := range kinds {
		if k.Kind != "" {
			list = append(list, k.Zero)
		}
	}
	return list
}
