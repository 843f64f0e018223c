package adapter

// GoogleCloudURL returns the URL of Google Cloud's service for models at a location: a region,
// "us" or "eu", which have several regions, or "global".
func GoogleCloudURL(location string) string {
	switch location {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com"
	}
	return "https://" + location + "-aiplatform.googleapis.com"
}
