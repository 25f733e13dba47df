"""Tables in and out: what a record is, text and small CSV files; `spark` reads tables of any size."""
