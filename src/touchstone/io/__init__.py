"""Case files of many shapes are read, results are written."""
