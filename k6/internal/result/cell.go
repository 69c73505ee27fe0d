// SPDX-License-Identifier: AGPL-3.0-only

package result

import (
	"encoding/json"
	"errors"
	"strconv"

	"windtunnel/k6/internal/document"
)

// Cell is a text, a boolean, a number with or without a range, or empty: null.
type Cell struct {
	Text  *string
	OK    *bool
	Value *float64
	Range *Range
	// Of is a figure that the judge fills in.
	Of *Figure
}

// Range is the range around a number: of the measured values, or an interval. Significant says that the number differs
// from the value without a difference, beyond chance.
type Range struct {
	Low         *float64
	High        *float64
	Significant bool
}

// Figure is a figure of an operation, or its ratio to the same figure of another operation. A script cannot know it
// before the judgement.
type Figure struct {
	Operation string `json:"operation"`
	Figure    string `json:"figure"`
	By        string `json:"by,omitempty"`
}

// Ranged is a number with its range: the least and the greatest measured value, or the ends of an interval.
type Ranged struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	// Chance alone makes such a ratio in less than 1 of 20 cases.
	Significant bool `json:"significant,omitempty"`
}

// MarshalJSON writes the value that is set.
func (c Cell) MarshalJSON() ([]byte, error) {
	switch {
	case c.Text != nil:
		return json.Marshal(c.Text)
	case c.OK != nil:
		return json.Marshal(c.OK)
	case c.Of != nil:
		return json.Marshal(c.Of)
	case c.Range != nil:
		return json.Marshal(Ranged{c.Value, c.Range.Low, c.Range.High, c.Range.Significant})
	}
	return json.Marshal(c.Value)
}

// UnmarshalJSON reads any kind of value. It returns an error for a value that is no cell.
func (c *Cell) UnmarshalJSON(data []byte) error {
	*c = Cell{}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		c.Text = &v
		return nil
	case bool:
		c.OK = &v
		return nil
	case float64:
		c.Value = &v
		return nil
	case []any:
		return errors.New("a list is no cell")
	}
	if _, is := value.(map[string]any)["figure"]; is {
		return document.Strictly(data, &c.Of)
	}
	var r Ranged
	err := document.Strictly(data, &r)
	c.Value, c.Range = r.Value, &Range{r.Low, r.High, r.Significant}
	return err
}

// String is the cell without its unit; "" for an empty cell.
func (c Cell) String() string {
	switch {
	case c.Text != nil:
		return *c.Text
	case c.OK != nil:
		return strconv.FormatBool(*c.OK)
	case c.Value != nil:
		return strconv.FormatFloat(*c.Value, 'f', -1, 64)
	}
	return ""
}
