package telemetry

import (
	"maps"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
)

// overflow is what measurements beyond maxSeries are labelled with (OpenTelemetry specification, "Cardinality limits").
var overflow = attribute.NewSet(attribute.Bool("otel.metric.overflow", true))

// cells are the series of one instrument, by their attributes: maxSeries at most.
type cells[C any] struct {
	make func() *C
	mu   sync.RWMutex // guards the field below
	all  map[attribute.Distinct]labelled[C]
}

// labelled is one of them.
type labelled[C any] struct {
	attributes attribute.Set
	cell       *C
}

func newCells[C any](make func() *C) cells[C] {
	return cells[C]{make: make, all: map[attribute.Distinct]labelled[C]{}}
}

// of returns the cell for these attributes. It stays the one for them until they are forgotten.
func (s *cells[C]) of(attributes attribute.Set) *C {
	s.mu.RLock()
	known, ok := s.all[attributes.Equivalent()]
	s.mu.RUnlock()
	if ok {
		return known.cell
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok = s.all[attributes.Equivalent()]; !ok && len(s.all) >= maxSeries-1 {
		attributes = overflow
	}
	key := attributes.Equivalent()
	if known, ok = s.all[key]; !ok {
		known = labelled[C]{attributes, s.make()}
		s.all[key] = known
	}
	return known.cell
}

// forget drops those that have all of these attributes. Who holds one goes on with it, and nobody is shown that.
func (s *cells[C]) forget(attributes []attribute.KeyValue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.all, func(_ attribute.Distinct, one labelled[C]) bool {
		return !slices.ContainsFunc(attributes, func(a attribute.KeyValue) bool {
			value, has := one.attributes.Value(a.Key)
			return !has || value != a.Value
		})
	})
}

// each calls show with each of them.
func (s *cells[C]) each(show func(attribute.Set, *C)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, one := range s.all {
		show(one.attributes, one.cell)
	}
}
