"""Is a program right, and under which timings?"""
