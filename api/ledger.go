package api

// A VerifyResult says what of a manifest was checked, and holds.
type VerifyResult struct {
	Manifest string `json:"manifest"`
	Seal     string `json:"seal"`
	Segments int    `json:"segments"` // whose bytes match their commitment
	Erased   int    `json:"erased"`   // whose bytes were purged, so that nothing can be said about them
	Redacted int    `json:"redacted"` // items that were taken out of the document
	Output   bool   `json:"output"`   // the whole context was rebuilt and matches
}
