"""What CANN's batched matrix product picks on DAV_3510: branch, tiling, and the order of its blocks.

Source: the host tiling of BatchMatMulV3 in hicann/ops-nn e5c3fa93, as prose in cann-asw-basic.md; sections
named in this package are that text's.
"""
