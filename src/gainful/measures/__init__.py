"""The measures: one file a family, a catalogue that names them, a grammar that reads them."""
