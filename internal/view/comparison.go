package view

// Comparison is two traces side by side.
type Comparison struct {
	A      string  `json:"a"` // what the traces are called
	B      string  `json:"b"`
	Levels []Level `json:"levels"`
	// Pairs are events that both have, by their places among the events of each.
	Pairs [][2]int `json:"pairs,omitempty"`
}

// Level is one of the views in which two traces are compared.
type Level struct {
	Name        string `json:"name"`
	What        string `json:"what"`
	Compared    int    `json:"compared"`
	Differences int    `json:"differences"`
	// First is the first difference, nil if there is none.
	First *Difference `json:"first,omitempty"`
}

// Difference is one point in which traces differ, the row at Index, with what stands around it.
type Difference struct {
	Subject string    `json:"subject"`
	What    string    `json:"what"`
	Rows    []Aligned `json:"rows"`
	Index   int       `json:"index"`
}

// Aligned is what both traces have at a point. An empty text is nothing.
type Aligned struct {
	A     string `json:"a"`
	B     string `json:"b"`
	TimeA int64  `json:"timeA"` // ms
	TimeB int64  `json:"timeB"`
	Same  bool   `json:"same,omitempty"`
}
