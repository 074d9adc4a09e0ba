package api

// A VerifyResult lists the checks that a manifest passed.
type VerifyResult struct {
	Manifest string `json:"manifest"`
	Seal     string `json:"seal"`
	Segments int    `json:"segments"` // segments whose bytes match their commitment
	Erased   int    `json:"erased"`   // segments whose bytes were purged and cannot be checked
	Redacted int    `json:"redacted"` // items taken out of the document
	Output   bool   `json:"output"`   // the whole context was rebuilt and matches
}
