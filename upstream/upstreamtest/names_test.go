package upstreamtest

// Names returns the names of all checks.
func Names() (list []string) {
	for _, k := range checks() {
		list = append(list, k.name)
	}
	return list
}
